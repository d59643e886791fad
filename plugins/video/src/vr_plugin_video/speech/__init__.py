"""What is said in a video: captions, speech recognition, models that listen, and transcripts."""

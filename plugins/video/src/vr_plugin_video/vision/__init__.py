"""What is seen in a video: its scenes, pictures of them, and the text on screen."""

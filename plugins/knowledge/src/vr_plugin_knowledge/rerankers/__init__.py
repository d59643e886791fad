"""What judges how well texts answer a question: services, models of this machine, a judge."""

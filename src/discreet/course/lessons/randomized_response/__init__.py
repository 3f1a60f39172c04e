"""The lesson 'randomized_response': answering by flipping coins."""

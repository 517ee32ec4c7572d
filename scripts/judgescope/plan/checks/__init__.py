"""What must hold between the cards of a study, before any job is planned."""

"""Results for papers, repositories and other programs."""

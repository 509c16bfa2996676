"""What hands out the work: jobs of Procrastinate in PostgreSQL, tokens of concurrency, signs of life."""

"""What a person types. Modules here import nothing heavy; a command imports what it needs when it runs."""

"""The rules of items: what each operation demands, changes and answers; batches are all or nothing."""

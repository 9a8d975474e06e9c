"""What people measured or ran themselves, and how it becomes evidence beside what is packaged."""

"""The boxes: bubblewrap, Landlock, Seatbelt, containers, and which of them work here."""

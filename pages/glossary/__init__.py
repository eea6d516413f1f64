"""Everything of the page "Glossary"."""

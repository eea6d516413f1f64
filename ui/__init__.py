"""What the pages share: the engine, controls, messages, links. With pages, the only room that imports streamlit."""

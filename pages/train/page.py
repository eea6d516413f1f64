"""The page "Train": tune a model on a task, watch it learn, and see what it can do and what changed inside."""

from pages.train import fields, own_data, scene
from ui import MODEL, Page, read_lesson_links, run, views_of

PAGE = Page(
    name="train",
    title="Train",
    icon=":material/model_training:",
    question="What can a model learn to do?",
    how="Fine-tune one on sentiment, entities, questions or your own data, and see what changes inside.",
    about="**Fine-tuning**: a pretrained model gets a new task head and is trained on a few hundred examples. Choose "
    "data and a model, press Train, and watch it learn.",
    fields=(MODEL, *fields.ASKED, *own_data.FIELDS),
    view=fields.SHOWN_VIEW,
    views=views_of("train"),
    scene=scene.make,
    left_out=scene.left_out,
    lesson_links=read_lesson_links("train", (MODEL, *fields.ASKED, fields.SHOWN_VIEW)),
    shows=lambda spec: "no, only encoders" if spec.causal or spec.cross_attention else "yes",
)

if __name__ == "__main__":
    run(PAGE)

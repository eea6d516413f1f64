"""The page "Train": tune a model on a task, watch it learn, and see what it can do and what changed inside."""

from pages.train import (
    came_out,
    distillation,
    fields,
    inside,
    own_data,
    plane,
    race,
    scene,
    scratch,
    similarity,
    training,
    try_it,
)
from ui.page import Page, run
from ui.widgets import MODEL

PAGE = Page(
    name="train",
    title="Train",
    icon=":material/model_training:",
    question="What can a model learn to do?",
    how="Fine-tune one on sentiment, entities, questions or data of your own, and watch what changes inside.",
    about="**Fine-tuning**: a pretrained model gets a new head for a task, and a few hundred examples teach it. Choose "
    "data and a model, press Train, and watch it learn.",
    fields=(MODEL, *fields.ASKED, *own_data.FIELDS),
    view=fields.VIEW,
    views=(
        training.VIEW,
        came_out.VIEW,
        try_it.VIEW,
        inside.VIEW,
        plane.VIEW,
        race.VIEW,
        scratch.VIEW,
        distillation.VIEW,
        similarity.VIEW,
    ),
    scene=scene.make,
    left_out=scene.left_out,
    shows=lambda spec: "no, only encoders" if spec.causal or spec.cross_attention else "yes",
)

if __name__ == "__main__":
    run(PAGE)

"""Trains a tiny network with each library, which writes its log: a program for the environment build/training_libraries.

The argument is the folder of the logs. Standard output gets a JSON object: for each library its log in that folder, and the
metrics that the library itself told after each epoch. In tests/own_runs/logs/written is what it wrote once.
"""

import json
import os
import sys
from pathlib import Path

os.environ |= {"CUDA_VISIBLE_DEVICES": "", "KERAS_BACKEND": "torch", "MLFLOW_ALLOW_FILE_STORE": "true"}

import torch
from torch import nn

EPOCHS, SAMPLES, BATCH, FEATURES = 3, 48, 16, 8
torch.set_num_threads(1)
torch.manual_seed(1)
X = torch.randn(SAMPLES, FEATURES)
Y = X.argmax(dim=1)
BATCHES = list(zip(X.split(BATCH), Y.split(BATCH), strict=True))


def with_torchvision():
    """timm needs torchvision, which lacks its operators where PyTorch is built for processors alone; nothing here calls them."""
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        for name in ("nms", "qnms"):
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def keras(folder):
    import keras

    model = keras.Sequential([keras.layers.Input((FEATURES,)), keras.layers.Dense(FEATURES, activation="softmax")])
    model.compile(optimizer="sgd", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    path = folder / "keras.csv"
    told = model.fit(
        X.numpy(), Y.numpy(), batch_size=BATCH, epochs=EPOCHS, validation_data=(X.numpy(), Y.numpy()), verbose=0,
        callbacks=[keras.callbacks.CSVLogger(path)],
    )  # fmt: skip
    return path, told.history


def lightning(folder):
    import lightning

    class Network(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(FEATURES, FEATURES)

        def training_step(self, batch):
            loss = nn.functional.cross_entropy(self.layer(batch[0]), batch[1])
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch):
            self.log("val_loss", nn.functional.cross_entropy(self.layer(batch[0]), batch[1]))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

        def on_train_epoch_end(self):
            told.append(self.trainer.callback_metrics["val_loss"].item())

    told = []
    logger = lightning.pytorch.loggers.CSVLogger(folder, name="lightning", version="")
    trainer = lightning.Trainer(
        accelerator="cpu", max_epochs=EPOCHS, logger=logger, log_every_n_steps=2, num_sanity_val_steps=0,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), batch_size=BATCH)
    trainer.fit(Network(), data, data)
    return Path(logger.log_dir) / "metrics.csv", {"val_loss": told}


def transformers(folder):
    import transformers

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(FEATURES, FEATURES)

        def forward(self, x, labels):
            logits = self.layer(x)
            return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}

    class Listener(transformers.TrainerCallback):
        def on_evaluate(self, args, state, control, metrics, **_):
            for name in ("eval_loss", "eval_accuracy"):
                told.setdefault(name, []).append(metrics[name])

    told = {}
    options = transformers.TrainingArguments(
        str(folder / "transformers"), per_device_train_batch_size=BATCH, num_train_epochs=EPOCHS, eval_strategy="epoch",
        logging_strategy="epoch", save_strategy="no", learning_rate=0.1, use_cpu=True, report_to="none", disable_tqdm=True,
    )  # fmt: skip
    rows = [{"x": x, "labels": y} for x, y in zip(X, Y, strict=True)]
    trainer = transformers.Trainer(
        Network(), options, train_dataset=rows, eval_dataset=rows, callbacks=[Listener()],
        compute_metrics=lambda found: {"accuracy": float((found.predictions.argmax(1) == found.label_ids).mean())},
    )  # fmt: skip
    trainer.train()
    trainer.save_state()
    return folder / "transformers/trainer_state.json", told


def plainly_trained():
    """The loss of training and, in percent, the accuracy after each epoch of a loop without a library."""
    network = nn.Linear(FEATURES, FEATURES)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(EPOCHS):
        for x, y in BATCHES:
            loss = nn.functional.cross_entropy(network(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        yield loss.item(), network(X).detach()


def timm(folder):
    from timm.utils import accuracy, update_summary

    path, told = folder / "summary.csv", {"eval_top1": [], "eval_top5": []}
    for epoch, (loss, outputs) in enumerate(plainly_trained()):
        top1, top5 = (share.item() for share in accuracy(outputs, Y, topk=(1, 5)))
        measured = {"loss": nn.functional.cross_entropy(outputs, Y).item(), "top1": top1, "top5": top5}
        update_summary(epoch, {"loss": loss}, measured, path, lr=0.1, write_header=epoch == 0)
        told["eval_top1"].append(top1 / 100)
        told["eval_top5"].append(top5 / 100)
    return path, told


def tensorboard(folder):
    from torch.utils.tensorboard import SummaryWriter

    told = []
    with SummaryWriter(folder / "tensorboard") as writer:
        for epoch, (loss, _) in enumerate(plainly_trained(), 1):
            writer.add_scalar("epoch", epoch, epoch * len(BATCHES))
            writer.add_scalar("train/loss", loss, epoch * len(BATCHES))
            told.append(loss)
    return next((folder / "tensorboard").glob("events*")), {"train/loss": told}


def mlflow(folder):
    import mlflow

    mlflow.set_tracking_uri((folder / "mlruns").as_uri())
    with mlflow.start_run() as run:
        for epoch, (loss, _) in enumerate(plainly_trained(), 1):
            mlflow.log_metric("train_loss", loss, step=epoch * len(BATCHES))
    told = mlflow.MlflowClient().get_metric_history(run.info.run_id, "train_loss")
    return next(folder.glob("mlruns/*/*/metrics/train_loss")), {"train_loss": [metric.value for metric in told]}


def mlflow_model(folder):
    """MLflow 3 keeps the metrics of a model apart, with the run and the data set in each line."""
    import mlflow
    from mlflow.data.http_dataset_source import HTTPDatasetSource
    from mlflow.data.meta_dataset import MetaDataset

    mlflow.set_tracking_uri((folder / "mlruns").as_uri())
    data = MetaDataset(HTTPDatasetSource("https://data.example/small.csv"), name="my small set")
    with mlflow.start_run():
        model = mlflow.initialize_logged_model("plain")
        losses = [loss for loss, _ in plainly_trained()]
        for epoch, loss in enumerate(losses, 1):
            mlflow.log_metric("loss", loss, step=epoch * len(BATCHES), dataset=data, model_id=model.model_id)
    return next(folder.glob("mlruns/*/models/*/metrics/loss")), {"loss": losses}


if __name__ == "__main__":
    wrote = {}
    with_torchvision()
    folder = Path(sys.argv[1]).absolute()
    for train in (keras, lightning, transformers, timm, tensorboard, mlflow, mlflow_model):
        log, told = train(folder)
        wrote[train.__name__] = {"log": str(log.relative_to(folder)), "told": told}
    print(json.dumps(wrote))

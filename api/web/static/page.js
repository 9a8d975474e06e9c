// What the page does better with scripts: copying, finding names in long lists, closing panels, applying a choice at once, dropping a
// sheet, removing a run.
"use strict";

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const field = button.parentElement.querySelector("input");
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

for (const field of document.querySelectorAll("input.find")) {
  field.hidden = false;
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    for (const item of field.parentElement.querySelectorAll("li, tr"))
      item.hidden = !item.textContent.toLowerCase().includes(wanted);
  });
}

const panels = "details.take[open], details.choose[open]";
document.addEventListener("click", (event) => {
  for (const panel of document.querySelectorAll(panels))
    if (!panel.contains(event.target)) panel.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const panel of document.querySelectorAll(panels)) {
    panel.open = false;
    panel.querySelector("summary").focus();
  }
});

for (const form of document.querySelectorAll("form.limits, form.question"))
  form.addEventListener("submit", () => {
    for (const field of form.elements) if (field.name && field.value === "") field.disabled = true;
  });
for (const select of document.querySelectorAll("form.limits select, form.question select"))
  select.addEventListener("change", () => select.form.requestSubmit());

for (const sheet of document.querySelectorAll("form.plan textarea")) {
  sheet.addEventListener("dragover", (event) => event.preventDefault());
  sheet.addEventListener("drop", async (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    sheet.value = await file.text();
  });
  const file = sheet.form.elements.file;
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    sheet.value = await file.files[0].text();
    file.value = "";
  });
}

for (const button of document.querySelectorAll("button.remove")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const answer = await fetch(button.dataset.remove, { method: "DELETE" }).catch(() => null);
    if (answer?.ok) location.reload();
    else button.textContent = "The server did not remove it";
  });
}

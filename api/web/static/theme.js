// Before anything is drawn: the theme that was chosen last.
try { document.documentElement.dataset.theme = localStorage.getItem("costcalc.theme") ?? ""; } catch { /* storage is switched off */ }

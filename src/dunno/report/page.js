"use strict";
// The slider of "How much does checking help?": without this script, the page shows one step of it.
const control = document.getElementById("control");
if (control) {
  const steps = JSON.parse(control.dataset.steps);
  const slider = document.getElementById("slider");
  const show = () => {
    const [x, y, sentence, checked] = steps[Number(slider.value)];
    const marker = document.getElementById("marker");
    marker.setAttribute("cx", x);
    marker.setAttribute("cy", y);
    document.getElementById("guide").setAttribute("d", `M${x} ${slider.dataset.bottom}V${y}`);
    document.getElementById("sentence").textContent = sentence;
    slider.setAttribute("aria-valuetext", checked);
  };
  slider.addEventListener("input", show);
  control.hidden = steps.length < 2;
  show();
}

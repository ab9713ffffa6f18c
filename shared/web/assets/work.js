// Where many forms are being sent, this lets a person send one sooner: it calculates what takes a browser some seconds
// (proof of work after "Hashcash", Back 2002). Without it, or before it is done, the form can be sent after a minute.
"use strict";
(async () => {
  const field = document.querySelector("input[name=work]");
  const sentence = document.getElementById("rush");
  if (!field || !sentence || !globalThis.crypto?.subtle) return;
  const token = field.form.elements.token.value;
  const bytes = new TextEncoder();
  // After a minute it is not needed any more.
  for (let number = 0; field.value === "" && performance.now() < 60_000; number++) {
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes.encode(`${token} ${number}`)));
    if (hash[0] === 0 && hash[1] === 0) field.value = String(number);
  }
  sentence.textContent = sentence.dataset.ready;
})();

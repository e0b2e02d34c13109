// Runs in the page before any script of it (security plan 3.12).

// What every object inherits can't be changed. Tauri's own `freezePrototype` also forbids an object a
// `toString` of its own by assignment, which the terminal's code does; here such an assignment makes
// an own property, as in a page that is not frozen.
(() => {
  const shared = Object.prototype;
  for (const name of Object.getOwnPropertyNames(shared)) {
    const { value, writable } = Object.getOwnPropertyDescriptor(shared, name);
    if (!writable) continue;
    Object.defineProperty(shared, name, {
      get: () => value,
      set(own) {
        if (this === shared) throw new TypeError(`Object.prototype.${name} is frozen`);
        Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
      },
      enumerable: false,
      configurable: false,
    });
  }
  Object.freeze(shared);
})();

// What no page of ours uses and no content policy covers.
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'open', 'print']) {
  if (name in window) Object.defineProperty(window, name, { value: undefined, writable: false, configurable: false });
}

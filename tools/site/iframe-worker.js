// A browser starts no Worker for a page that was opened from a file. There, this class takes its place: it runs the script in
// a hidden frame. Material's search asks for the name IFrameWorker, and its offline plugin for a script of this name.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      this.ready = new Promise((resolve) => inside.addEventListener("load", resolve));
      addEventListener("message", (event) => {
        if (event.source !== inside) return;
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      });
      inside.postMessage = (data) => window.dispatchEvent(new MessageEvent("message", { data, source: inside }));
      inside.importScripts = (...urls) => urls.reduce((before, each) => before.then(() => new Promise((resolve) => {
        const script = inside.document.createElement("script");
        script.src = each;
        script.onload = resolve;
        inside.document.body.appendChild(script);
      })), Promise.resolve());
      const script = inside.document.createElement("script");
      script.src = url;
      script.onload = () => inside.dispatchEvent(new Event("load"));
      inside.document.body.appendChild(script);
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}

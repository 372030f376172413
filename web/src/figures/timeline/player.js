// Time that runs, only after the reader has pressed play, and only in sight.

const WHOLE_MS = 10_000;
const JUMP_MS = 1000;

export class Player {
  isPlaying = false;
  speed = 1;

  /**
   * @param {Element} element
   * @param {(part: number) => boolean} glide by a part of what is shown; false at the end
   * @param {() => boolean} jump likewise, to the next event
   * @param {() => void} ended
   */
  constructor(element, glide, jump, ended) {
    this.element = element;
    this.glide = glide;
    this.jump = jump;
    this.ended = ended;
  }

  /** @param {boolean} calmly in jumps */
  start(calmly) {
    this.isPlaying = true;
    this.isVisible = true;
    this.watcher = new IntersectionObserver(([entry]) => (this.isVisible = entry?.isIntersecting ?? true));
    this.watcher.observe(this.element);
    if (calmly) this.timer = setInterval(() => this.isVisible && this.end(!this.jump()), JUMP_MS / this.speed);
    else this.frame(performance.now());
  }

  /** @param {number} before */
  frame(before) {
    this.request = requestAnimationFrame((now) => {
      const goesOn = !this.isVisible || this.glide(((now - before) / WHOLE_MS) * this.speed);
      if (!this.isPlaying) return;
      if (goesOn) this.frame(now);
      else this.end(true);
    });
  }

  /** @param {boolean} isOver */
  end(isOver) {
    if (!isOver) return;
    this.stop();
    this.ended();
  }

  stop() {
    this.isPlaying = false;
    this.watcher?.disconnect();
    clearInterval(this.timer);
    cancelAnimationFrame(this.request ?? 0);
  }
}

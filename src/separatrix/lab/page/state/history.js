/**
 * Undo and redo of snapshots. A snapshot holds references to values that are never written,
 * so keeping one costs a few words.
 *
 * @template T
 */
export class History {
  /** @param {number} [limit] snapshots kept */
  constructor(limit = 200) {
    this.limit = limit;
    /** @type {T[]} */
    this.past = [];
    /** @type {T[]} */
    this.future = [];
  }

  /**
   * Remember the state before an edit.
   * @param {T} snapshot
   */
  push(snapshot) {
    this.past.push(snapshot);
    if (this.past.length > this.limit) this.past.shift();
    this.future = [];
  }

  /**
   * Step back; the present is stored for redo.
   * @param {T} present
   * @returns {T|null}
   */
  undo(present) {
    const snapshot = this.past.pop();
    if (snapshot === undefined) return null;
    this.future.push(present);
    return snapshot;
  }

  /**
   * Step forward again.
   * @param {T} present
   * @returns {T|null}
   */
  redo(present) {
    const snapshot = this.future.pop();
    if (snapshot === undefined) return null;
    this.past.push(present);
    return snapshot;
  }

  /** Forget everything. */
  clear() {
    this.past = [];
    this.future = [];
  }

  get canUndo() {
    return this.past.length > 0;
  }

  get canRedo() {
    return this.future.length > 0;
  }
}

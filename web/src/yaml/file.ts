// FileModel holds the text of the file: what is on disk, what is being edited, its
// problems, and what to do if both texts have changed. It draws nothing.

import type { Problem } from "../api/types";

// Refused is why a text was not saved.
export interface Refused {
  message: string;
  problems: Problem[];
}

export type SaveResult =
  | { saved: true; revision: string }
  | { saved: false; conflict: { text: string; revision: string } }
  | { saved: false; refused: Refused };

// FileAPI is what a FileModel needs of the server.
export interface FileAPI {
  read(): Promise<{ text: string; revision: string }>;
  save(text: string, revision: string, force: boolean): Promise<SaveResult>;
  check(text: string, signal: AbortSignal): Promise<Problem[]>;
  format(text: string): Promise<string>;
}

export interface FileState {
  loaded: boolean;
  // revision and saved are the text on disk that the edited text is based on.
  revision: string;
  saved: string;
  text: string;
  dirty: boolean;
  // problems are those of checked, which may be an earlier text.
  problems: Problem[];
  checked?: string;
  saving: boolean;
  // conflict is a newer text on disk, with unsaved changes here.
  conflict?: { text: string; revision: string };
  refused?: Refused;
  error?: string;
  // replaced is raised when the text changed other than by typing.
  replaced: number;
}

const checkDelay = 250;

export class FileModel {
  private state: FileState = {
    loaded: false, revision: "", saved: "", text: "", dirty: false, problems: [], saving: false, replaced: 0,
  };
  private listeners = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private running: AbortController | undefined;
  private loading: Promise<void> | undefined;
  private missed: string | undefined; // a revision that was seen while saving
  private crlf = false;

  constructor(private readonly api: FileAPI) {}

  readonly get = (): FileState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  // load reads the file once; it does nothing if that was done.
  load(): Promise<void> {
    this.loading ??= this.read().catch((e: unknown) => {
      this.loading = undefined;
      this.set({ error: text(e) });
    });
    return this.loading;
  }

  // edit takes the text as it is typed.
  edit(text: string): void {
    if (text === this.state.text) return;
    this.set({ text, dirty: text !== this.state.saved, refused: undefined, error: undefined });
    this.check(checkDelay);
  }

  // replace sets the whole text, such as a formatted one or one with a fix.
  replace(text: string): void {
    if (text === this.state.text) return;
    this.set({
      text, dirty: text !== this.state.saved, refused: undefined, error: undefined, replaced: this.state.replaced + 1,
    });
    this.check(0);
  }

  // changedOnDisk takes the news that the file has another revision.
  async changedOnDisk(revision: string): Promise<void> {
    if (!this.state.loaded || revision !== "" && revision === (this.state.conflict ?? this.state).revision) return;
    if (this.state.saving) {
      this.missed = revision;
      return;
    }
    try {
      const now = await this.fetch();
      if (this.state.saving || now.revision === (this.state.conflict ?? this.state).revision) return;
      if (now.revision === this.state.revision) this.set({ conflict: undefined }); // the change was taken back
      else if (!this.state.dirty || now.text === this.state.text) this.take(now);
      else this.set({ conflict: now });
    } catch (e) {
      this.set({ error: text(e) });
    }
  }

  // save writes the text if the file on disk is still the one it is based on. force
  // also saves a text with errors.
  async save(force = false): Promise<boolean> {
    const { text: mine, revision, saving, loaded, dirty } = this.state;
    if (loaded && !dirty && !force) return true;
    if (saving || !loaded || this.state.conflict) return false;
    this.set({ saving: true, refused: undefined, error: undefined });
    let done = false;
    try {
      const r = await this.api.save(this.crlf ? mine.replaceAll("\n", "\r\n") : mine, revision, force);
      if (r.saved) {
        done = true;
        this.set({ saving: false, saved: mine, revision: r.revision, dirty: this.state.text !== mine });
        if (this.state.text === mine) this.check(0);
      } else if ("conflict" in r) {
        const theirs = { text: this.plain(r.conflict.text), revision: r.conflict.revision };
        if (theirs.text === mine) this.take(theirs);
        else this.set({ saving: false, conflict: theirs });
      } else {
        this.set({ saving: false, refused: r.refused });
      }
    } catch (e) {
      this.set({ saving: false, error: text(e) });
    }
    const missed = this.missed;
    this.missed = undefined;
    if (missed) void this.changedOnDisk(missed);
    return done;
  }

  // keepMine saves the text over the newer one on disk, unless it has errors.
  async keepMine(): Promise<boolean> {
    const theirs = this.state.conflict;
    if (!theirs) return false;
    this.set({ conflict: undefined, revision: theirs.revision, saved: theirs.text, dirty: this.state.text !== theirs.text });
    return this.save();
  }

  // takeTheirs drops the unsaved changes for the text on disk.
  takeTheirs(): void {
    if (this.state.conflict) this.take(this.state.conflict);
  }

  // merged goes on editing with a text that was made of both.
  merged(text: string): void {
    const theirs = this.state.conflict;
    if (!theirs) return;
    this.set({ conflict: undefined, revision: theirs.revision, saved: theirs.text });
    this.set({ text, dirty: text !== theirs.text, replaced: this.state.replaced + 1 });
    this.check(0);
  }

  // revert drops the unsaved changes.
  revert(): void {
    this.replace(this.state.saved);
  }

  async format(): Promise<void> {
    const mine = this.state.text;
    try {
      const formatted = this.plain(await this.api.format(mine));
      if (this.state.text === mine) this.replace(formatted);
    } catch (e) {
      this.set({ error: text(e) });
    }
  }

  // reached takes the news that the server can be reached again: what could not be done for want of that is
  // done now.
  reached(): void {
    if (!this.state.loaded) return;
    this.set({ error: undefined });
    if (this.state.checked !== this.state.text) this.check(0);
    void this.changedOnDisk("");
  }

  dismiss(): void {
    this.set({ error: undefined, refused: undefined });
  }

  private async read(): Promise<void> {
    this.take(await this.fetch());
  }

  private async fetch(): Promise<{ text: string; revision: string }> {
    const r = await this.api.read();
    this.crlf = r.text.includes("\r\n");
    return { text: this.plain(r.text), revision: r.revision };
  }

  // plain returns a text with the line ends that the editor counts by.
  private plain(text: string): string {
    return text.replaceAll("\r\n", "\n");
  }

  private take(now: { text: string; revision: string }): void {
    this.set({
      loaded: true, saving: false, revision: now.revision, saved: now.text, text: now.text, dirty: false, conflict: undefined,
      refused: undefined, error: undefined,
      replaced: this.state.replaced + (now.text === this.state.text && this.state.loaded ? 0 : 1),
    });
    this.check(0);
  }

  private check(delay: number): void {
    clearTimeout(this.timer);
    this.running?.abort();
    const running = (this.running = new AbortController());
    this.timer = setTimeout(async () => {
      const checked = this.state.text;
      try {
        const problems = await this.api.check(checked, running.signal);
        if (!running.signal.aborted) this.set({ problems, checked });
      } catch (e) {
        if (!running.signal.aborted) this.set({ error: `The text was not checked: ${text(e)}` });
      }
    }, delay);
  }

  private set(change: Partial<FileState>): void {
    this.state = { ...this.state, ...change };
    for (const l of this.listeners) l();
  }
}

function text(e: unknown): string {
  return e instanceof Error ? e.message : String(e);
}

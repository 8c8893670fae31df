import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, type Finishing } from '@leasehold/testing'

/** Why there is no pseudo-terminal for tests; `undefined` where there is one. */
export const whyNoTerminal: string | undefined =
  process.platform === 'linux' && ['script', 'bash'].every((name) => spawnSync(name, ['--version']).status === 0)
    ? undefined
    : "there is no pseudo-terminal: install util-linux's script, and bash"

/** An interactive shell in a pseudo-terminal. */
export class TerminalSession {
  readonly #child: ChildProcess
  #shown = ''
  /** The output before this place was seen already. */
  #seen = 0

  private constructor(test: Finishing, folder: string) {
    this.#child = spawn('script', ['-qfec', 'bash --norc --noprofile -i', '/dev/null'], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        XDG_STATE_HOME: folder,
        TERM: 'dumb',
        PS1: 'prompt> ',
        HISTFILE: '',
      },
    })
    this.#child.stdout?.on('data', (text) => {
      this.#shown += text
    })
    test.onTestFinished(() => void this.#child.kill('SIGKILL'))
  }

  /** A terminal whose lines are long enough for those that tests type. */
  static async open(test: Finishing, folder: string): Promise<TerminalSession> {
    const terminal = new TerminalSession(test, folder)
    await terminal.shows(/prompt> /)
    terminal.type('stty cols 400\n')
    await terminal.shows(/prompt> /)
    return terminal
  }

  /** Everything that it has shown. */
  get shown(): string {
    return this.#shown
  }

  /** Types a line, or single keys: `\x1a` is Ctrl-Z. */
  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  /** Resolves after a number of milliseconds. */
  async quiet(milliseconds: number): Promise<void> {
    await sleep(milliseconds)
  }

  /** Resolves when something that matches is shown after the last one that was waited for. */
  async shows(pattern: RegExp): Promise<string> {
    let found: RegExpExecArray | null = null
    await eventually(`${pattern} on the terminal`, async () => {
      found = pattern.exec(this.#shown.slice(this.#seen))
      return found !== null
    }).catch((error: Error) => {
      throw new Error(`${error.message}; the terminal shows:\n${this.#shown}`)
    })
    const { 0: text, index } = found as unknown as RegExpExecArray
    this.#seen += index + text.length
    return text
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** A program in a process of its own that says `inside` when it is in its transaction, and commits on its first input. */
export class Writer {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(program: URL, args: readonly (string | number)[]): Promise<Writer> {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', '--conditions', '@leasehold/source', program.pathname, ...args.map(String)],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    )
    const writer = new Writer(child)
    const said = await writer.#said()
    if (said !== 'inside') throw new Error(`the writer said '${said}'`)
    return writer
  }

  /** SIGSTOP. */
  stop(): void {
    this.#child.kill('SIGSTOP')
  }

  /** Asks for the commit, which a stopped process sends after its SIGCONT. Resolves with `committed` or `failed`. */
  async commit(): Promise<string> {
    const said = this.#said()
    this.#child.stdin?.write('commit\n')
    this.#child.kill('SIGCONT')
    return await said
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  #said(): Promise<string> {
    return Promise.race([
      once(this.#child.stdout as NonNullable<ChildProcess['stdout']>, 'data').then(([text]) => String(text).trim()),
      once(this.#child, 'exit').then(() => 'nothing'),
    ])
  }
}

import type { ServerProcess } from './server-process.js'

/** A server that tests freeze, kill and start again, in a process of its own at a time. */
export abstract class StoppableServer {
  /** `undefined` before its first start. */
  protected process: ServerProcess | undefined

  /** Of its process, which is another after a restart. */
  get pid(): number {
    return this.running().pid
  }

  /** All requests hang from now on: SIGSTOP. */
  freeze(): void {
    this.running().signal('SIGSTOP')
  }

  thaw(): void {
    this.running().signal('SIGCONT')
  }

  /** Ends it without a word, frozen or not: SIGKILL. */
  async kill(): Promise<void> {
    await this.process?.end()
  }

  protected running(): ServerProcess {
    if (this.process === undefined) throw new Error('this server was never started')
    return this.process
  }
}

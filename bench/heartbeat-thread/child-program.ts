import { type ChildProcess, spawn } from 'node:child_process'
import { buildProgram } from './build-program.js'
import type { Task } from './child.js'

/** The program of the processes that are measured. */
export class ChildProgram {
  readonly #file: string

  private constructor(file: string) {
    this.#file = file
  }

  static async build(): Promise<ChildProgram> {
    // The rivals are looked up from the file that installs them.
    const define = { 'import.meta.url': JSON.stringify(new URL('../redis/rivals.ts', import.meta.url).href) }
    return new ChildProgram(await buildProgram(new URL('child.ts', import.meta.url), define))
  }

  start(task: Task): ChildProcess {
    const args = ['--expose-gc', '--max-old-space-size=4096', this.#file, JSON.stringify(task)]
    return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  }
}

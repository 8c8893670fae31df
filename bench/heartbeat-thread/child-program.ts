import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Task } from './child.js'

/** The program of the processes that are measured. */
export class ChildProgram {
  readonly #file: string

  private constructor(file: string) {
    this.#file = file
  }

  /** Builds it below the packages that it imports, so that it starts without a compiler. */
  static async build(): Promise<ChildProgram> {
    const folder = fileURLToPath(new URL('../../node_modules/.cache/leasehold-bench', import.meta.url))
    mkdirSync(folder, { recursive: true })
    const outfile = join(folder, 'child.mjs')
    await build({
      entryPoints: [fileURLToPath(new URL('child.ts', import.meta.url))],
      outfile,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      // The rivals are looked up from the file that installs them.
      define: { 'import.meta.url': JSON.stringify(new URL('../redis/rivals.ts', import.meta.url).href) },
    })
    return new ChildProgram(outfile)
  }

  start(task: Task): ChildProcess {
    const args = ['--expose-gc', '--max-old-space-size=4096', this.#file, JSON.stringify(task)]
    return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  }
}

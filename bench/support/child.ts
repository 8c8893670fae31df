import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Answer } from './child-program.js'

const repository = fileURLToPath(new URL('../..', import.meta.url))

type Method = (...of: never[]) => unknown

export interface ChildOptions {
  /** The folder of the repository whose packages it imports: this one unless given. */
  readonly packages?: string
  /** The size of its heap for old objects, in MiB: 4,096 unless given, so that little time goes into collections. */
  readonly heap?: number
}

/** A function that is exported by a file, and that a process of its own calls. */
type Opening<Task, Served> = (task: Task) => Served | Promise<Served>

/**
 * A process of its own, with an object whose methods this process calls. Arguments and answers travel as JSON. It ends with
 * this process at the latest.
 */
export class Child<Served> {
  /** Resolves with the signal that ended it. */
  readonly exited: Promise<NodeJS.Signals | null>
  readonly #process: ChildProcess
  readonly #asked = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  #lastId = 0

  private constructor(program: string, task: object, { heap = 4_096 }: ChildOptions = {}) {
    this.#process = fork(program, [JSON.stringify(task)], { execArgv: ['--expose-gc', `--max-old-space-size=${heap}`] })
    this.exited = once(this.#process, 'exit').then(([, signal]) => signal)
    this.#process.on('message', (message) => this.#onAnswer(message as Answer))
    this.#process.once('exit', (code, signal) => {
      const error = new Error(`${basename(program)} ended early: ${signal ?? code}`)
      for (const { reject } of this.#asked.values()) reject(error)
    })
  }

  /** Resolves when `open`, which `file` exports, has resolved in the new process. */
  static async start<Task extends object, Served>(
    file: string,
    open: Opening<Task, Served>,
    task: Task,
    options: ChildOptions = {},
  ): Promise<Child<Served>> {
    const { packages = repository } = options
    const child = new Child<Served>(await build(file, open.name, packages), task, options)
    await child.#send({})
    return child
  }

  /** The result of one measurement in a process of its own. */
  static async measure<Task extends object, Result>(
    file: string,
    measure: Opening<Task, Result>,
    task: Task,
  ): Promise<Result> {
    const child = new Child<never>(await build(file, measure.name, repository), task)
    try {
      return (await child.#send({})) as Result
    } finally {
      await child.kill()
    }
  }

  /** Calls a method. Rejects if the method does, or if the process ends. */
  ask<Name extends keyof Served & string>(
    method: Name,
    ...of: Parameters<Extract<Served[Name], Method>>
  ): Promise<Awaited<ReturnType<Extract<Served[Name], Method>>>> {
    return this.#send({ method, of }) as ReturnType<typeof this.ask<Name>>
  }

  /** Ends it with SIGKILL; resolves when it has exited. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.exited
  }

  /** Without a method, resolves with the object itself, or with the data that it is. */
  #send(call: { readonly method?: string; readonly of?: readonly unknown[] }): Promise<unknown> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject })
      this.#process.send({ id, ...call }, (error) => error && reject(error))
    })
  }

  #onAnswer({ id, result, error }: Answer): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (error === undefined) asked?.resolve(result)
    else asked?.reject(new Error(error))
  }
}

const built = new Map<string, Promise<string>>()

/** Builds the program of a child below the packages that it imports, so that its start loads no compiler. */
function build(file: string, name: string, packages: string): Promise<string> {
  const source = fileURLToPath(file)
  const bundle = `${relative(repository, source).replaceAll(/\W/g, '-')}-${name}.mjs`
  const outfile = join(packages, 'node_modules/.cache/leasehold-bench', bundle)
  const program = built.get(outfile) ?? bundleProgram(source, name, outfile)
  built.set(outfile, program)
  return program
}

async function bundleProgram(source: string, name: string, outfile: string): Promise<string> {
  const program = fileURLToPath(new URL('child-program.ts', import.meta.url))
  const contents = [
    `import { serve } from ${JSON.stringify(program)}`,
    `import { ${name} } from ${JSON.stringify(source)}`,
    `serve(${name})`,
  ].join('\n')
  // Not at the top, because the files that children run import this one.
  const { build } = await import('esbuild')
  await build({
    stdin: { contents, resolveDir: repository, loader: 'ts' },
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    // The rivals are looked up from this folder.
    define: { 'import.meta.url': JSON.stringify(import.meta.url) },
  })
  return outfile
}

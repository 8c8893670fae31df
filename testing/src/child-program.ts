import { spawn } from 'node:child_process'

const OPTIONS = ['--import', 'tsx', '--conditions', '@leasehold/source']

/** A program of the tests in a process of its own. */
export interface ChildProgram {
  /** Its first output. */
  readonly output: string
  /** Stops the process with SIGSTOP, so that it does nothing any more. */
  freeze(): void
  /** Ends a `freeze`. */
  thaw(): void
  /** Ends it with SIGKILL; resolves when it has exited. */
  kill(): Promise<void>
}

/** Runs a TypeScript file in a process of its own; resolves with its first output. */
export async function startProgram(file: URL, args: readonly (string | number)[]): Promise<ChildProgram> {
  const child = spawn(process.execPath, [...OPTIONS, file.pathname, ...args.map(String)])
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.stderr.on('data', (text) => process.stderr.write(text))
  const output = await Promise.race([
    new Promise<string>((resolve) => child.stdout.once('data', (text) => resolve(String(text)))),
    exited.then(() => {
      throw new Error(`${file.pathname} exited without any output`)
    }),
  ])
  return {
    output,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

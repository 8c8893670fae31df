import { spawn } from 'node:child_process'

const OPTIONS = ['--import', 'tsx', '--conditions', '@leasehold/source']

/** A program of the tests in a process of its own. */
export interface Child {
  /** Its first output. */
  readonly said: string
  /** Stops it without a trace: SIGSTOP. */
  freeze(): void
  /** Ends it with SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
}

/** Runs `<program>.ts` of this folder; resolves when it has said something. */
export async function startChild(program: string, args: readonly (string | number)[]): Promise<Child> {
  const file = new URL(`./${program}.ts`, import.meta.url).pathname
  const child = spawn(process.execPath, [...OPTIONS, file, ...args.map(String)])
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.stderr.on('data', (text) => process.stderr.write(text))
  const said = await Promise.race([
    new Promise<string>((resolve) => child.stdout.once('data', (text) => resolve(String(text)))),
    exited.then(() => {
      throw new Error(`${program} ended before it said anything`)
    }),
  ])
  return {
    said,
    freeze: () => void child.kill('SIGSTOP'),
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

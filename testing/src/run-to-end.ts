import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The end of a program. */
export interface ProgramEnd {
  /** The exit code; `null` where a signal ended it. */
  readonly code: number | null
  /** The lines that it printed. */
  readonly lines: readonly string[]
  readonly errors: string
}

/** Runs a TypeScript file in a process of its own until it exits; ends it with SIGKILL after `timeout` milliseconds. */
export async function runToEnd(
  file: URL,
  args: readonly (string | number)[] = [],
  timeout = 60_000,
): Promise<ProgramEnd> {
  const argv = ['--import', 'tsx', '--conditions', '@leasehold/source', fileURLToPath(file), ...args.map(String)]
  return await new Promise((resolve) => {
    const child = execFile(process.execPath, argv, { timeout, killSignal: 'SIGKILL' }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, lines: stdout.split('\n').filter((line) => line !== ''), errors: stderr })
    })
  })
}

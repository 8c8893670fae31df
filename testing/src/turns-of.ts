import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const OPTIONS = ['--import', 'tsx', '--conditions', '@leasehold/source']

/**
 * What two processes with the same program print, each a text, when they are started at once and run until they end by
 * themselves. Rejects if one of them fails, or has not ended within a minute.
 */
export async function turnsOf(program: URL, environment: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const argv = [...OPTIONS, fileURLToPath(program)]
  const env = { ...process.env, ...environment }
  const run = () =>
    new Promise<string>((resolve, reject) => {
      execFile(process.execPath, argv, { env, timeout: 60_000, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(`${program.pathname} failed: ${stderr}`, { cause: error }))
      })
    })
  return await Promise.all([run(), run()])
}

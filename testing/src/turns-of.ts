import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const OPTIONS = ['--import', 'tsx', '--conditions', '@leasehold/source']

/** What the first program of a guide prints in its turn, to the end. */
const TURN = /^process \d+ has its turn, with the token (\d+)\ndone\n$/

/**
 * Starts two processes with the first program of a guide at once, as its reader does in two terminals. Returns the fencing tokens
 * of their turns. Rejects if one of them fails, or has not ended by itself within a minute and a half.
 */
export async function turnsOf(program: URL, environment: Readonly<Record<string, string>> = {}): Promise<bigint[]> {
  const argv = [...OPTIONS, fileURLToPath(program)]
  const env = { ...process.env, ...environment }
  const run = () =>
    new Promise<bigint>((resolve, reject) => {
      execFile(process.execPath, argv, { env, timeout: 90_000, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
        const [, token] = TURN.exec(stdout) ?? []
        if (error === null && token !== undefined) resolve(BigInt(token))
        else reject(new Error(`${program.pathname} failed: ${stdout}${stderr}`, { cause: error ?? undefined }))
      })
    })
  return await Promise.all([run(), run()])
}

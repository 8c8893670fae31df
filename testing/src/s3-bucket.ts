import { createRequire } from 'node:module'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { eventually } from './eventually.js'
import { freePort } from './free-port.js'
import { s3Headers } from './s3-register.js'
import { ServerProcess } from './server-process.js'
import { temporaryFolder } from './temporary-folder.js'

/** The command line of a service that answers as S3 on a port, and keeps its files in a folder. */
export type S3Service = (port: number, folder: string) => readonly [program: string, ...args: string[]]

/** A service that accepts every condition of a write and ignores it. */
export const s3rver: S3Service = (port, folder) => [
  process.execPath,
  createRequire(import.meta.url).resolve('s3rver/bin/s3rver.js'),
  ...['--directory', folder, '--address', '127.0.0.1', '--port', String(port), '--no-vhost-buckets', '--silent'],
]

/** The address of a new bucket of a service of its own, which ends with the test. */
export async function s3Bucket(service: S3Service): Promise<string> {
  const port = await freePort()
  const folder = temporaryFolder()
  const [program, ...args] = service(port, join(folder, 'buckets'))
  const server = await ServerProcess.spawn(program, args, join(folder, 'log'))
  onTestFinished(() => server.end())
  const address = `http://127.0.0.1:${port}/leases`
  await eventually('the service has a bucket', async () => {
    const answer = await fetch(address, { method: 'PUT', headers: s3Headers() })
    return answer.ok
  })
  return address
}

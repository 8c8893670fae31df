import { execFile } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { postgresBin, whyNoPostgres } from './postgres-binary.js'
import { serverAccount } from './server-account.js'

const run = promisify(execFile)

/** The superuser of all clusters of the tests. */
export const SUPERUSER = 'postgres'

let templatePromise: Promise<string> | undefined

/** An empty folder that the server may use: its sockets, its log, and its data in `data`. */
export function postgresFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-pg-'))
  own(folder)
  return folder
}

/** Gives a file or a folder to the user that runs the server. */
export function own(path: string, account = serverAccount()): void {
  if (account !== undefined) chownSync(path, account.uid, account.gid)
}

/** Runs a program of PostgreSQL as the user that runs the server. */
export async function runPostgresProgram(program: string, args: readonly string[], cwd: string): Promise<void> {
  await run(programOf(program), args, { ...serverAccount(), cwd })
}

/** The path of a program of PostgreSQL; throws where this machine has none. */
export function programOf(program: string): string {
  if (postgresBin === undefined) throw new Error(whyNoPostgres)
  return join(postgresBin, program)
}

/** Makes a new cluster in `<folder>/data`: a copy, because `initdb` takes a second or more. */
export async function createCluster(folder: string): Promise<void> {
  templatePromise ??= createTemplate()
  await run('cp', ['-a', await templatePromise, join(folder, 'data')])
}

/** As `createCluster`, with arguments of its own for `initdb`. */
export async function initCluster(folder: string, args: readonly string[] = []): Promise<void> {
  const always = ['-U', SUPERUSER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']
  await runPostgresProgram('initdb', ['-D', join(folder, 'data'), ...always, ...args], folder)
}

/** Who may connect, and how. */
export function writeAccess(folder: string, access: { readonly password: boolean; readonly tls: boolean }): void {
  const [type, method] = [access.tls ? 'hostssl' : 'host', access.password ? 'scram-sha-256' : 'trust']
  const lines = [
    'local all all trust',
    'local replication all trust',
    `${type} all all 127.0.0.1/32 ${method}`,
    `${type} replication all 127.0.0.1/32 ${method}`,
  ]
  const file = join(folder, 'data', 'pg_hba.conf')
  writeFileSync(file, `${lines.join('\n')}\n`)
  own(file)
}

async function createTemplate(): Promise<string> {
  const folder = postgresFolder()
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await initCluster(folder)
  return join(folder, 'data')
}

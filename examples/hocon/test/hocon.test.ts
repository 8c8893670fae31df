import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const application = fileURLToPath(new URL('../application.conf', import.meta.url))

function run(file: string, env: Readonly<Record<string, string>>): { lines: string[]; stderr: string } {
  const options = ['--import', 'tsx', '--conditions', '@leasehold/source', main, file]
  const { stdout, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8', env: { ...process.env, ...env } })
  return { lines: stdout.trim().split('\n'), stderr }
}

it('the same worker runs on memory, and by one other line on local; the environment sets the ttl', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-hocon-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const rest = ['mine; the rival gets it: false', 'after me, the rival gets it: true']
  expect(run(application, {})).toEqual({ lines: ['@leasehold/core#memoryLease, ttl 60000 ms', ...rest], stderr: '' })

  const text = readFileSync(application, 'utf8')
  const changed = text.replace('worker.lease = ${leasehold.memory}', 'worker.lease = ${leasehold.local}')
  expect(changed).not.toBe(text)
  const file = join(folder, 'application.conf')
  writeFileSync(file, changed)
  expect(run(file, { WORKER_TTL: '45s', WORKER_FOLDER: join(folder, 'leases') })).toEqual({
    lines: ['@leasehold/local, ttl 45000 ms', ...rest],
    stderr: '',
  })
})

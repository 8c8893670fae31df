import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

const application = fileURLToPath(new URL('../application.conf', import.meta.url))

it('the same worker runs on memory, and on local after one changed line; the environment sets the ttl', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-hocon-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const rest = ['mine; the rival gets it: false', 'after me, the rival gets it: true']
  expect(runExample('hocon', [application])).toEqual({
    status: 0,
    lines: ['@leasehold/core#memoryLease, ttl 60000 ms', ...rest],
    stderr: '',
  })

  const text = readFileSync(application, 'utf8')
  const changed = text.replace('worker.lease = ${leasehold.memory}', 'worker.lease = ${leasehold.local}')
  expect(changed).not.toBe(text)
  const file = join(folder, 'application.conf')
  writeFileSync(file, changed)
  const env = { WORKER_TTL: '45s', WORKER_FOLDER: join(folder, 'leases') }
  expect(runExample('hocon', [file], env)).toEqual({
    status: 0,
    lines: ['@leasehold/local, ttl 45000 ms', ...rest],
    stderr: '',
  })
})

it('reads the file of the guide in the working directory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-hocon-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const nightly = fileURLToPath(new URL('../src/nightly', import.meta.url))
  cpSync(join(nightly, 'application.conf'), join(folder, 'application.conf'))
  const options = ['--import', import.meta.resolve('tsx'), '--conditions', '@leasehold/source']
  const { stdout, stderr } = spawnSync(process.execPath, [...options, join(nightly, 'report.ts')], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, JOBS_TTL: '45s' },
  })
  expect({ stdout, stderr }).toEqual({ stdout: 'writes the report, with a ttl of 45000 ms\n', stderr: '' })
})

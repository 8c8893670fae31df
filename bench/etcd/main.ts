/**
 * Ours, the Lock of etcd3 and etcdctl lock on one etcd in one run. `--write` writes the page in `docs`; `--only cycles` measures
 * one of cycles, hand-over and holding.
 */
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { type Report, reportCycles, reportHandOver, reportHolding } from './numbers.js'

const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } })

const numbers: Readonly<Record<string, (server: EtcdServer) => Promise<readonly Report[]>>> = {
  cycles: async (server) => [await reportCycles(server)],
  'hand-over': async (server) => {
    const reports: Report[] = []
    for (const waiters of [1, 10, 100]) reports.push(await reportHandOver(server, waiters))
    return reports
  },
  holding: async (server) => [await reportHolding(server)],
}

const server = await EtcdServer.start()
try {
  const version = (await server.ctl('version')).split('\n')[0]?.replace(/^\D+/, '')
  const parts: string[] = []
  for (const [name, report] of Object.entries(numbers)) {
    if (values.only !== undefined && values.only !== name) continue
    for (const { title, body } of await report(server)) {
      console.log(`\n## ${title}\n\n${body}`)
      parts.push(`## ${title}\n\n${body}\n`)
    }
  }
  const date = new Date().toISOString().slice(0, 10)
  const machine = `Node ${process.version}, etcd ${version}, one member without fsync, ${cpus().length} × ${cpus()[0]?.model}`
  const page = new URL('../../docs/benchmarks-etcd.md', import.meta.url)
  const notes = new URL('./notes.md', import.meta.url)
  if (values.write) {
    const { readFileSync } = await import('node:fs')
    // The page is in docs/, the notes are not.
    const text = readFileSync(notes, 'utf8').replaceAll('](../../docs/', '](')
    const [before = '', after = ''] = text.split('<!-- figures -->\n')
    writeFileSync(page, `${before}Measured on ${date}: ${machine}.\n\n${parts.join('\n')}${after}`)
  }
} finally {
  await server.stop()
}
process.exit()

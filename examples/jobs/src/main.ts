import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-jobs-'))
const program = fileURLToPath(new URL('worker.ts', import.meta.url))

type Worker = ChildProcessByStdio<Writable, Readable, null>

function start(...args: string[]): Worker {
  const options = ['--import', 'tsx', '--conditions', '@leasehold/source', program, folder, ...args]
  return spawn(process.execPath, options, { stdio: ['pipe', 'pipe', 'inherit'] })
}

async function linesOf(worker: Worker, onLine: (line: string) => void): Promise<void> {
  const lines = createInterface({ input: worker.stdout }).on('line', onLine)
  await once(lines, 'close')
}

try {
  // The first worker is killed in the middle of its first invoice.
  const killed = start('anna')
  await linesOf(killed, (line) => {
    if (line !== 'begins anna') return
    console.log('the first worker begins anna, and is killed')
    killed.kill('SIGKILL')
  })
  const sent: string[] = []
  const workers = [start(), start(), start()]
  const finished = workers.map((worker) =>
    linesOf(worker, (line) => {
      if (line.startsWith('sent ')) sent.push(...line.slice('sent '.length).split(' ').filter(Boolean))
    }),
  )
  await Promise.all(finished)
  console.log(`three workers have sent ${sent.length} invoices: ${sent.sort().join(', ')}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

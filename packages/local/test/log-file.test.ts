import { join } from 'node:path'
import { temporaryFolder } from '@leasehold/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { LogFile } from '../src/log-file.js'

const room = vi.hoisted(() => ({ bytes: Number.POSITIVE_INFINITY }))

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  return { ...fs, writeSync: (file: number, data: Buffer) => fs.writeSync(file, data.subarray(0, room.bytes)) }
})

it('a write throws if the disk has too little space, and the next line is complete', () => {
  const path = join(temporaryFolder(), 'log')
  const log = LogFile.create(path, 0o600)
  onTestFinished(() => log.close())
  log.append(['before'])
  room.bytes = 5
  expect(() => log.append(['too long'])).toThrow('only 5 of 10 bytes')
  room.bytes = Number.POSITIVE_INFINITY
  log.append(['after'])
  const lines: string[] = []
  log.readOn((line) => lines.push(line))
  expect(lines).toEqual(['before', 'too ', 'after'])
})

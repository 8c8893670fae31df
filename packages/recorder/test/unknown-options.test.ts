import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseConfigurationError } from '@leasehold/core'
import { flightRecorder } from '@leasehold/recorder'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['flightRecorder', 'folders', 'folder', (o: object) => flightRecorder(o as { folder: string })],
    ['flightRecorder', 'sise', 'size', (o: object) => flightRecorder({ folder: 'recordings', ...o })],
  ])('%s: %s, meant is %s', async (of, option, meant, use) => {
    const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'LeaseConfigurationError',
      message: `${of} has no option '${option}': did you mean '${meant}'?`,
    })
  })
})

it('a folder that cannot be written is a LeaseConfigurationError, before any lease uses the recorder', (test) => {
  const file = join(temporaryFolder(test), 'file')
  writeFileSync(file, '')
  for (const folder of [file, join(file, 'recordings')]) {
    expect(() => flightRecorder({ folder })).toThrow(LeaseConfigurationError)
    expect(() => flightRecorder({ folder })).toThrow('create it, or name another one')
  }
})

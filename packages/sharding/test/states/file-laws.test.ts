import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileState } from '@leasehold/sharding/local'
import { describeStateLaws } from './describe-state-laws.js'

describeStateLaws({
  name: 'fileState',
  start: () => {
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
    return { open: () => fileState(folder), stop: () => rmSync(folder, { recursive: true, force: true }) }
  },
})

import { createGrantId } from '../store/grant-id.js'
import type { StoreCall } from '../store/store-call.js'
import type { StoreFinding } from '../store/store-finding.js'
import { unowned } from './cas-records.js'
import type { CasRecord, CasRegister, CasVersion } from './cas-register.js'
import type { ProbedTimes } from './probed-times.js'

/** The methods that the probe calls. */
export type ProbedRegister<V extends CasVersion> = Pick<CasRegister<V>, 'read' | 'create' | 'replace'>

/** The reserved name of the record that the probe writes. No lease can have it. */
export const PROBE_NAME = 'leasehold-probe'

/** How often a write is tried that no other writer seems to have prevented. */
const ATTEMPTS = 3

const CREATE = 'conditional creation'
const REPLACE = 'conditional writes'
const READ = 'fresh reads'

/**
 * Finds out whether a register keeps its conditions, by a record that is no lease: a second creation and a write with an
 * older version have to be refused, a read has to see the last write, and `times` have to agree. The record stays; later probes use it again, also
 * several at once: each sees only what is wrong whatever the others write.
 */
export async function probeRegister<V extends CasVersion>(
  register: ProbedRegister<V>,
  times: ProbedTimes,
  call: StoreCall,
): Promise<readonly StoreFinding[]> {
  const isThere = (await register.read(PROBE_NAME, call)) !== undefined
  if (!isThere) await register.create(PROBE_NAME, probeRecord(), call)
  // There is a record now, written here or by another probe.
  const again = await register.create(PROBE_NAME, probeRecord(), call)
  if (again !== undefined)
    return [ignored(CREATE, 'it creates an entry that exists, and so overwrites it', 'If-None-Match')]
  return [{ check: CREATE, result: 'ok' }, ...(await probeWrites(register, times, call)), ...times.findings]
}

async function probeWrites<V extends CasVersion>(
  register: ProbedRegister<V>,
  times: ProbedTimes,
  call: StoreCall,
): Promise<readonly StoreFinding[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const before = await times.reading(register.read(PROBE_NAME, call))
    if (before === undefined) break
    const next = before.record.revision + 1
    times.onWrite()
    const written = await register.replace(PROBE_NAME, probeRecord(next), before.version, call)
    if (written === undefined) {
      const after = await register.read(PROBE_NAME, call)
      // Another probe was faster, and the register refused the older version: that is the condition.
      if (after !== undefined && after.version !== before.version) return [keeps(REPLACE), keeps(READ)]
      continue
    }
    if (written.version === before.version) return [sameVersion, { check: READ, result: 'unknown' }]
    const stale = await register.replace(PROBE_NAME, probeRecord(next + 1), before.version, call)
    if (stale !== undefined) {
      return [ignored(REPLACE, 'it replaces an entry although the given version is not the last one', 'If-Match')]
    }
    const seen = await times.reading(register.read(PROBE_NAME, call))
    return [keeps(REPLACE), seen === undefined || seen.version === before.version ? staleRead : keeps(READ)]
  }
  return [
    { check: REPLACE, result: 'unknown', found: `the entry '${PROBE_NAME}' could not be replaced` },
    { check: READ, result: 'unknown' },
  ]
}

/** Each has contents of its own: a version may be a hash of the contents. */
function probeRecord(revision = unowned.revision): CasRecord {
  return { ...unowned, grantId: createGrantId(), revision }
}

function keeps(check: string): StoreFinding {
  return { check, result: 'ok' }
}

function ignored(check: string, found: string, header: string): StoreFinding {
  return {
    check,
    result: 'failed',
    setting: check,
    found,
    change: `use a service that keeps this condition (${header} over HTTP), or a register that sends it`,
  }
}

const sameVersion: StoreFinding = {
  check: REPLACE,
  result: 'failed',
  setting: REPLACE,
  found: 'a write gave the entry the version that it had before',
  change: 'give each write another version: keep the revision of the record in what the version is made of',
}

const staleRead: StoreFinding = {
  check: READ,
  result: 'failed',
  setting: READ,
  found: 'a read after a write returned the entry before it',
  change: 'read from the server that takes the writes, not from a cache or a replica',
}

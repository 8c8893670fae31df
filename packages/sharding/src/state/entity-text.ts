import { LeaseConfigurationError } from '@leasehold/core'
import { shownValue } from '@leasehold/core/internal'
import { parsedJSON } from '@leasehold/core/store-kit'
import type { SavedEntity } from '../entity-state.js'

/** An entity, for errors. */
interface Subject {
  readonly id: string
  /** The kind of store that keeps it. */
  readonly store: string
}

/**
 * The entity as JSON. Throws a `LeaseConfigurationError` if it is larger than `maxBytes`, or if JSON cannot hold its snapshot.
 */
export function textOf({ snapshot, version, handled }: SavedEntity, subject: Subject, maxBytes: number): string {
  let text: string
  try {
    text = JSON.stringify({ version, snapshot, handled })
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error)
    throw fault(subject, `cannot be written as JSON (${reason}): keep only what JSON can hold in its context`, error)
  }
  if (snapshot === undefined || !Number.isSafeInteger(version)) {
    const what = snapshot === undefined ? 'no snapshot' : `a version that is no whole number: ${shownValue(version)}`
    throw fault(subject, `cannot be saved: it has ${what}`)
  }
  // A character is at most three bytes, so that the text of an ordinary entity need not be measured.
  const bytes = text.length * 3 <= maxBytes ? 0 : Buffer.byteLength(text)
  if (bytes <= maxBytes) return text
  throw fault(
    subject,
    `is too large to be saved: ${bytes} bytes as JSON, and ${maxBytes} are allowed. Keep less in its context, keep large ` +
      'data in a database of its own, or raise maxBytes of the state',
  )
}

/** The entity of a text. Throws a `LeaseConfigurationError` if it is not one that `textOf` has made. */
export function entityIn(text: string, subject: Subject): SavedEntity {
  const parsed = parsedJSON(text) as Partial<SavedEntity> | null | undefined
  const { snapshot, version, handled } = parsed ?? {}
  if (snapshot !== undefined && typeof version === 'number' && Array.isArray(handled))
    return { snapshot, version, handled }
  throw fault(
    subject,
    'was kept in a form that is not of this package: another program may have written it. Repair or delete it',
  )
}

function fault({ id, store }: Subject, message: string, cause?: unknown): LeaseConfigurationError {
  return new LeaseConfigurationError(`the entity '${id}' ${message}`, { leaseName: id, store, cause })
}

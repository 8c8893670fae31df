import type { Metadata } from '@leasehold/core'
import type { AcquiredMessage } from '@leasehold/core/channels'
import type { Link, SpanContext } from '@opentelemetry/api'
import { guard } from './subscriptions.js'
import { fromTraceParent, TRACE_PARENT, toTraceParent } from './trace-parent.js'

/** The recipes that keep data of their own in the record: nothing is added to those. */
const RECIPES_WITH_LINKS = new Set<string | undefined>([undefined, 'leader-election'])

interface WithMetadata {
  update(metadata: Metadata): Promise<boolean>
}

/** Links the span of a term to that of the term before it, whose context the last holder has left in the metadata. */
export class TermLinks {
  readonly #option: boolean | ((leaseName: string) => boolean)

  constructor(option: boolean | ((leaseName: string) => boolean)) {
    this.#option = option
  }

  toPrevious({ leaseName, previous }: AcquiredMessage): Link[] {
    const context = fromTraceParent(previous?.[TRACE_PARENT])
    return context !== undefined && this.#applies(leaseName) ? [{ context }] : []
  }

  /** Leaves the context of a term in the metadata of its lease, with one more write. */
  leave({ lease, leaseName, metadata, previous, from }: AcquiredMessage, context: SpanContext): void {
    // The record of an adopted lease keeps its metadata.
    const kept = from === 'hand-off' ? previous : metadata
    if (!RECIPES_WITH_LINKS.has(kept?.recipe) || !this.#applies(leaseName)) return
    // Without the metadata, a trace lacks a link. The lease itself reports a store that fails.
    void (lease as WithMetadata).update({ ...kept, [TRACE_PARENT]: toTraceParent(context) }).catch(() => {})
  }

  #applies(leaseName: string): boolean {
    const option = this.#option
    return typeof option === 'function' ? guard(() => option(leaseName)) === true : option
  }
}

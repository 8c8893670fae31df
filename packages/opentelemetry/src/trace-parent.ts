import { isSpanContextValid, type SpanContext } from '@opentelemetry/api'

/** The key of the metadata, and of the header, that W3C Trace Context names: https://www.w3.org/TR/trace-context/ */
export const TRACE_PARENT = 'traceparent'

const PATTERN = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/

export function toTraceParent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
}

/** The span that a `traceparent` names; `undefined` where it names none. */
export function fromTraceParent(text: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags] = (typeof text === 'string' ? PATTERN.exec(text) : null) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(context) ? context : undefined
}

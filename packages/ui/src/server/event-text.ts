import type { ServerEvents } from '../protocol.js'

const encoder = new TextEncoder()

/** The bytes of one event of the stream. JSON has no line breaks outside of its escapes, so a name cannot end the event. */
export function eventBytes<Name extends keyof ServerEvents>(name: Name, data: ServerEvents[Name]): Uint8Array {
  return encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
}

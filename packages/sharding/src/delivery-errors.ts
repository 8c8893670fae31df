/** The entity certainly did not get the event: it can be sent again. */
export class NotDeliveredError extends Error {
  override readonly name = 'NotDeliveredError'
  readonly code = 'not-delivered'
}

/** The entity may have handled the event, or may still handle it: look before you send it again. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError'
  readonly code = 'unknown'
}

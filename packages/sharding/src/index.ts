export { NotDeliveredError, OutcomeUnknownError } from './delivery-errors.js'
export type { EntityState, SavedEntity } from './entity-state.js'
export type { AnswerMessage, Batch, EventMessage, Json, Message, Receipt } from './message.js'
export type { BatchHandler, Transport } from './transport.js'

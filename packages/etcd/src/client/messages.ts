import protobuf from 'protobufjs/light.js'
import { type MessageName, messages } from './api.js'

const nested = Object.entries(messages).map(([name, fields]) => [name, { fields: toFields(fields) }])
const root = protobuf.Root.fromJSON({ nested: Object.fromEntries(nested) })

function toFields(fields: object): Record<string, protobuf.IField> {
  return Object.fromEntries(Object.entries(fields).map(([name, [id, type, rule]]) => [name, { id, type, rule }]))
}

/** The types by their names, because a look into the root takes longer. */
const types = Object.fromEntries(Object.keys(messages).map((name) => [name, root.lookupType(name)])) as Record<
  MessageName,
  protobuf.Type
>

/** Whole numbers of 64 bits are texts, bytes are buffers. */
export function encode(name: MessageName, fields: object): Buffer {
  const type = types[name]
  return Buffer.from(type.encode(type.fromObject(fields)).finish())
}

/** Whole numbers of 64 bits are texts, bytes are buffers, and absent fields have their default. */
export function decode(name: MessageName, bytes: Buffer): object {
  const type = types[name]
  return type.toObject(type.decode(bytes), { longs: String, defaults: true })
}

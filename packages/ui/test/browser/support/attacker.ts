import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Finishing } from '@leasehold/testing'

export interface Attacker {
  /** An empty page on another port of the same host: of another origin, but of the same site, so that cookies are sent. */
  readonly sameSite: string
  /** The same page under another host: of another site. */
  readonly otherSite: string
}

/** The server of a page that wants to read and change the leases of its visitor. */
export async function startAttacker(test: Finishing): Promise<Attacker> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end('<!doctype html><html lang="en"><title>A game</title><link rel="icon" href="data:,"><p>A game')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  test.onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { sameSite: `http://127.0.0.1:${port}/`, otherSite: `http://localhost:${port}/` }
}

/** A try of the attacker's page: an expression whose value is what it could read. Nothing: an empty text. */
export interface Attack {
  readonly title: string
  readonly expression: (target: string) => string
}

const request = (name: string) => JSON.stringify({ name, token: '1', period: 0, reason: 'because I can' })

const fetched = (path: string, options: string) => (target: string) =>
  `fetch(${JSON.stringify(target + path)}, { credentials: 'include', ${options} })
     .then(async (answer) => answer.type === 'opaque' ? '' : answer.status + ' ' + (await answer.body.getReader().read()).value)
     .catch(() => '')`

/** A form in a frame of its own, so that the page of the attacker stays. Resolves when the answer is there, and reads it. */
const form = (enctype: string, fields: string) => (target: string) =>
  `new Promise((resolve) => {
  const frame = document.createElement('iframe')
  frame.name = 'answer' + Math.random()
  const form = document.createElement('form')
  Object.assign(form, { method: 'post', action: ${JSON.stringify(`${target}api/break`)}, enctype: ${JSON.stringify(enctype)}, target: frame.name })
  for (const [name, value] of ${fields}) {
    const input = document.createElement('input')
    Object.assign(input, { type: 'hidden', name, value })
    form.append(input)
  }
  document.body.append(frame, form)
  frame.addEventListener('load', () => {
    let text = ''
    try { text = frame.contentWindow.location.href === 'about:blank' ? undefined : frame.contentDocument.body.innerText } catch {}
    if (text !== undefined) resolve(text)
  })
  form.submit()
})`

/** What a page of another origin can try, with the cookies of its visitor. */
export function attacks(name: string): readonly Attack[] {
  const body = JSON.stringify(request(name))
  const simple = "'content-type': 'text/plain'"
  const json = "'content-type': 'application/json'"
  const query = new URLSearchParams({ name, token: '1', period: '0', reason: 'because I can' })
  const whole = request(name)
  return [
    { title: 'reads the stream', expression: fetched('api/events', '') },
    { title: 'reads the stream without CORS', expression: fetched('api/events', "mode: 'no-cors'") },
    { title: 'reads a lease', expression: fetched(`api/lease?${new URLSearchParams({ name })}`, '') },
    { title: 'reads the page', expression: fetched('', '') },
    {
      title: 'reads the stream as an EventSource',
      expression: (target) => `new Promise((resolve) => {
        const source = new EventSource(${JSON.stringify(`${target}api/events`)}, { withCredentials: true })
        source.addEventListener('hello', ({ data }) => { source.close(); resolve(data) })
        source.addEventListener('error', () => { source.close(); resolve('') })
      })`,
    },
    {
      title: 'loads a lease as a script',
      expression: (target) => `new Promise((resolve) => {
        const script = document.createElement('script')
        script.src = ${JSON.stringify(`${target}api/lease?${new URLSearchParams({ name })}`)}
        script.addEventListener('load', () => resolve('loaded'))
        script.addEventListener('error', () => resolve(''))
        document.body.append(script)
      })`,
    },
    {
      title: 'breaks by an image',
      expression: (target) => `new Promise((resolve) => {
        const image = new Image()
        image.addEventListener('load', () => resolve('loaded'))
        image.addEventListener('error', () => resolve(''))
        image.src = ${JSON.stringify(`${target}api/break?${query}`)}
      })`,
    },
    {
      title: 'breaks by a simple request',
      expression: fetched('api/break', `mode: 'no-cors', method: 'POST', headers: { ${simple} }, body: ${body}`),
    },
    {
      title: 'breaks by a simple request whose answer it asks for',
      expression: fetched('api/break', `method: 'POST', headers: { ${simple} }, body: ${body}`),
    },
    {
      title: 'breaks by a request in JSON',
      expression: fetched('api/break', `method: 'POST', headers: { ${json} }, body: ${body}`),
    },
    {
      title: 'breaks by a request with the header of changes',
      expression: fetched(
        'api/break',
        `method: 'POST', headers: { ${json}, 'x-leasehold-change': 'x', authorization: 'Bearer x' }, body: ${body}`,
      ),
    },
    {
      title: 'breaks by a blob whose type is JSON',
      expression: fetched(
        'api/break',
        `mode: 'no-cors', method: 'POST', body: new Blob([${body}], { type: 'application/json' })`,
      ),
    },
    {
      title: 'breaks by a beacon',
      expression: (target) =>
        `String(navigator.sendBeacon(${JSON.stringify(`${target}api/break`)}, ${body})).replace('true', '')`,
    },
    {
      title: 'breaks by a form of text',
      // The name and the value of the field are JSON together.
      expression: form('text/plain', JSON.stringify([[`${whole.slice(0, -1)},"x":"`, '"}']])),
    },
    {
      title: 'breaks by an ordinary form',
      expression: form('application/x-www-form-urlencoded', JSON.stringify([...query])),
    },
    {
      title: 'frames the page',
      expression: (target) => `new Promise((resolve) => {
        const frame = document.createElement('iframe')
        frame.src = ${JSON.stringify(target)}
        frame.addEventListener('load', () => {
          let text = ''
          try { text = frame.contentDocument?.body.innerText ?? '' } catch {}
          resolve(text)
        })
        document.body.append(frame)
      })`,
    },
    {
      title: 'opens the page and looks into it',
      expression: (target) => `new Promise((resolve) => {
        const opened = window.open(${JSON.stringify(target)})
        setTimeout(() => {
          try { resolve(opened?.document?.body?.innerText ?? '') } catch { resolve('') }
          opened?.close()
        }, 500)
      })`,
    },
  ]
}

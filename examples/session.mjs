// What a host does, for trying heddle without one: starts it, calls the tools that
// stand on stdin, a line each as TOOL {"argument":"value"}, and prints the text of
// each answer.
//
//   node examples/session.mjs bin/heddle start --config heddle.yml <<< 'find_tool {"query":"list files"}'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const [command, ...args] = process.argv.slice(2)
const heddle = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map()
let last = 0

createInterface({ input: heddle.stdout }).on('line', line => {
  const message = JSON.parse(line)
  waiting.get(message.id)?.(message)
})
heddle.on('exit', code => { process.exitCode = code })

const send = message => heddle.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')
const ask = (method, params) => new Promise(answer => {
  waiting.set(++last, answer)
  send({ id: last, method, params })
})

await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'session', version: '1' } })
send({ method: 'notifications/initialized' })
for await (const line of createInterface({ input: process.stdin })) {
  const space = line.indexOf(' ')
  console.log(`→ ${line}`)
  const { result, error } = await ask('tools/call', { name: line.slice(0, space), arguments: JSON.parse(line.slice(space)) })
  console.log(error ? error.message : result.content.map(block => block.text ?? `[${block.type}]`).join('\n'))
}
heddle.stdin.end()

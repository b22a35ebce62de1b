/** The weights of a .tinygpt as .safetensors. The engine makes it, in an instance of its own: the run is left alone. */
import { createEngine } from 'posttrain-engine';
import { ofBlob } from './source';

const ROOM = 3;
const ROOM_BYTES = 128e6;

export async function safetensorsOf(model: Blob): Promise<Blob> {
    const engine = await createEngine({ threads: 1, needBytes: ROOM * model.size + ROOM_BYTES });
    try {
        await engine.importModel(ofBlob(model, '').pieces(), model.size);
        return new Blob([await engine.safetensors()], { type: 'application/octet-stream' });
    } finally {
        await engine.close();
    }
}
